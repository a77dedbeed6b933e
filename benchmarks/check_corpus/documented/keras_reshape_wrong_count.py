import keras
from keras import layers

encoder_in = keras.Input((100,))
x = layers.Dense(7 * 7 * 32, activation="relu")(encoder_in)
x = layers.Reshape((8, 8, 32))(x)
x = layers.Conv2DTranspose(16, 3, strides=2, padding="same", activation="relu")(x)
out = layers.Conv2DTranspose(1, 3, strides=2, padding="same", activation="sigmoid")(x)
generator = keras.Model(encoder_in, out)
generator.compile(optimizer="adam", loss="mse")
