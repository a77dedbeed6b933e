import keras
from keras import layers


class Spam:
    def __init__(self, vocab):
        self.model = keras.Sequential([
            layers.Embedding(vocab, 32),
            layers.GlobalAveragePooling1D(),
            layers.Dense(32, activation="relu"),
            layers.Dense(1, activation="sigmoid"),
        ])
        self.model.compile(optimizer="rmsprop", loss="binary_crossentropy", metrics=["accuracy"])

    def train(self, x, y):
        self.model.fit(x, y, epochs=4, validation_split=0.2)
