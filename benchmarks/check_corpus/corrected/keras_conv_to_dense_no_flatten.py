from keras import Input, Sequential
from keras.layers import Conv2D, Dense, Flatten, MaxPooling2D

model = Sequential([
    Input((32, 32, 3)),
    Conv2D(32, 3, activation="relu"),
    MaxPooling2D(),
    Conv2D(64, 3, activation="relu"),
    MaxPooling2D(),
    Flatten(),
    Dense(64, activation="relu"),
    Dense(10, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.summary()
