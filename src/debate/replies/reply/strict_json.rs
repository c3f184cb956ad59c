//! Strict serde helpers for JSON replies. Derived deserializers accept an array for a struct and a
//! map for a unit variant, and a map keeps only the last of duplicate keys. These types reject the
//! first two, and keep duplicate sides so that the parser can report them.
use super::wire_values::WireSide;
use serde::de::value::{MapAccessDeserializer, StringDeserializer};
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::marker::PhantomData;

/// Deserializes from a JSON object only. A derived struct would also accept an array.
pub(super) struct StrictObject<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for StrictObject<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<StrictObject<T>, D::Error> {
        deserializer.deserialize_map(StrictObjectVisitor(PhantomData)).map(StrictObject)
    }
}

struct StrictObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for StrictObjectVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }
}

/// Entries by side, in input order and with duplicates.
pub(super) struct SideEntries<T>(pub(super) Vec<(WireSide, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for SideEntries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SideEntries<T>, D::Error> {
        deserializer.deserialize_map(SideEntriesVisitor(PhantomData)).map(SideEntries)
    }
}

struct SideEntriesVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for SideEntriesVisitor<T> {
    type Value = Vec<(WireSide, T)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with both sides")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = vec![];
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(entries)
    }
}

/// Deserializes a unit enum from a JSON string only.
pub(super) fn word<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<T, D::Error> {
    let word = String::deserialize(deserializer)?;
    T::deserialize(StringDeserializer::new(word))
}

/// As [`word`], but `null` is `None`.
pub(super) fn word_or_none<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let word = Option::<String>::deserialize(deserializer)?;
    word.map(|word| T::deserialize(StringDeserializer::new(word))).transpose()
}
