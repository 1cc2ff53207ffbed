//! Segmentation of small programs.
