import keras
from keras import layers, losses, optimizers

N_CLASSES = 7
inputs = keras.Input((64,))
h = layers.Dense(96, activation="selu")(inputs)
outputs = layers.Dense(N_CLASSES, activation="sigmoid")(h)
model = keras.Model(inputs, outputs)
model.compile(
    optimizer=optimizers.Adam(1e-3),
    loss=losses.SparseCategoricalCrossentropy(),
    metrics=["accuracy"],
)
