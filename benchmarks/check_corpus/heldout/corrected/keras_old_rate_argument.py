import keras
from keras import optimizers

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
sgd = optimizers.SGD(learning_rate=0.01, momentum=0.9)
model.compile(optimizer=sgd, loss="mse")
