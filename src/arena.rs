//! Debates between bots that come over the network.
