import keras
from keras import layers

model = keras.Sequential([
    keras.Input((40,)),
    layers.Dense(80, activation="relu"),
    layers.Dense(6),
])
model.compile(
    optimizer="adam",
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
