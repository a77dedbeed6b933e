import keras
from keras import layers

model = keras.Sequential([
    keras.Input((20,)),
    layers.Dense(64, activation="relu"),
    layers.Dense(32, activation="relu", kernel_initializer=keras.initializers.HeNormal()),
    layers.Dense(5, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])


def fit(x, y):
    return model.fit(x, y, epochs=20, batch_size=32, validation_split=0.2)
