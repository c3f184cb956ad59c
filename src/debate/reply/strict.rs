//! What serde would let pass in a paper: a list for an object, an object for a word, and a side that
//! is given twice, of which only the last would count.
use super::WireSide;
use serde::de::value::{MapAccessDeserializer, StringDeserializer};
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::marker::PhantomData;

/// An object, written as one: a list would be read as an object whose names were left out.
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Object<T>, D::Error> {
        deserializer.deserialize_map(Named(PhantomData)).map(Object)
    }
}

struct Named<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Named<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }
}

/// Something about each side, as often as it was said.
pub(super) struct Sides<T>(pub(super) Vec<(WireSide, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Sides<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Sides<T>, D::Error> {
        deserializer.deserialize_map(Labelled(PhantomData)).map(Sides)
    }
}

struct Labelled<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Labelled<T> {
    type Value = Vec<(WireSide, T)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with both sides")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut said = vec![];
        while let Some(entry) = map.next_entry()? {
            said.push(entry);
        }
        Ok(said)
    }
}

/// One of several words, written as one.
pub(super) fn word<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<T, D::Error> {
    let word = String::deserialize(deserializer)?;
    T::deserialize(StringDeserializer::new(word))
}

/// One of several words, or none.
pub(super) fn word_or_none<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let word = Option::<String>::deserialize(deserializer)?;
    word.map(|word| T::deserialize(StringDeserializer::new(word))).transpose()
}
