import keras
from keras.layers import Conv2D, Dense, Flatten, MaxPooling2D

model = keras.Sequential()
model.add(keras.Input((16, 16, 1)))
model.add(Conv2D(16, 3, activation="relu"))
model.add(MaxPooling2D(2))
model.add(Conv2D(32, 3, activation="relu"))
model.add(MaxPooling2D(2))
model.add(Conv2D(64, 3, activation="relu"))
model.add(Flatten())
model.add(Dense(3, activation="softmax"))
model.compile("adam", loss="sparse_categorical_crossentropy")
