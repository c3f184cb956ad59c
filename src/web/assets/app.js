// Replaced by what the script's sources are built to.
