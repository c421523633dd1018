//! The server as editors meet it: messages in, messages out.

mod actions;
#[path = "../editor/client.rs"]
mod editor;
mod framing;
mod mistakes;
mod random;
mod requests;
mod series;
mod testing;
mod worlds;
