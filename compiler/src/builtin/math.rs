//! Mathematical functions of our own.
