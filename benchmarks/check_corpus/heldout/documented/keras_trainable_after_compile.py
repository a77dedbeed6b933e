import keras

base = keras.applications.MobileNetV2(include_top=False, pooling="avg", weights="imagenet")
model = keras.Sequential([base, keras.layers.Dense(5, activation="softmax")])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
base.trainable = False


def fit(train_ds, val_ds):
    model.fit(train_ds, validation_data=val_ds, epochs=5)
