import keras
from keras import layers

model = keras.Sequential([
    keras.Input((300,)),
    layers.Dense(256, activation="relu"),
    layers.Dropout(0.95),
    layers.Dense(4, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
