from tensorflow import keras


def run(model: keras.Model, train_gen, val_gen, steps):
    model.compile(optimizer="adam", loss="categorical_crossentropy", metrics=["accuracy"])
    model.fit(train_gen, steps_per_epoch=steps, epochs=10, validation_data=val_gen)
    return model


inputs = keras.Input((32,))
model = keras.Model(inputs, keras.layers.Dense(4, activation="softmax")(inputs))
