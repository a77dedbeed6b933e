from tensorflow import keras
from tensorflow.keras.layers import Dense, Input


def build(n_features, n_classes):
    inputs = Input(shape=(n_features,))
    h = Dense(128)(inputs)
    h = Dense(64)(h)
    outputs = Dense(n_classes, activation="softmax")(h)
    return keras.Model(inputs, outputs)


model = build(40, 6)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.summary()
