import keras
from keras.layers import Dense, Dropout

model = keras.Sequential([
    keras.Input((9,)),
    Dense(32, activation="relu"),
    Dropout(0.2),
    Dense(1, activation="softmax"),
])
model.compile(loss="binary_crossentropy", optimizer=keras.optimizers.Adam(1e-3), metrics=["accuracy"])


def train(x_train, y_train, x_val, y_val):
    return model.fit(x_train, y_train, epochs=50, batch_size=16, validation_data=(x_val, y_val))
