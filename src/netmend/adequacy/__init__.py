"""Is a test set adequate for a trained model: measured on what the model does with it, without training anything."""

from netmend.callable_package import make_callable

make_callable(__name__)
