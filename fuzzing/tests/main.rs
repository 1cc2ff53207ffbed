//! Random programs through all oracles, with fixed seeds.

mod casts;
mod complex;
mod contracted;
mod control;
mod convolutions;
mod coverage;
mod devices;
mod gpu;
mod model;
mod models;
mod modules;
mod oracles;
mod parser;
mod partners;
mod plans;
mod power;
mod preseg;
mod processors;
mod recognize;
mod split;
mod targets;
mod tiles;
mod values;
