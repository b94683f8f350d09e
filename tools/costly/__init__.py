"""Small inputs that are costly to read, and what every command spends on them."""
