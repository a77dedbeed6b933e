"""Watches environments of Gymnasium, whatever loop steps them."""
