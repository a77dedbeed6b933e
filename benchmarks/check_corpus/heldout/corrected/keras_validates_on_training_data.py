import keras
import numpy as np

data = np.load("sensors.npz")
x_train, y_train = data["x_train"], data["y_train"]
x_test, y_test = data["x_test"], data["y_test"]
model = keras.Sequential([
    keras.Input((x_train.shape[1],)),
    keras.layers.Dense(64, activation="relu"),
    keras.layers.Dense(1),
])
model.compile(optimizer="adam", loss="mse", metrics=["mae"])
model.fit(x_train, y_train, epochs=30, validation_split=0.1)
print(model.evaluate(x_test, y_test))
