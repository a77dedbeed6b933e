from tensorflow.keras.preprocessing.image import ImageDataGenerator

augmented = ImageDataGenerator(rescale=1 / 255, rotation_range=20, horizontal_flip=True)
plain = ImageDataGenerator(rescale=1 / 255)
train_it = augmented.flow_from_directory("birds/train", target_size=(128, 128), batch_size=32)
val_it = plain.flow_from_directory("birds/val", target_size=(128, 128), batch_size=32)


def fit(model):
    return model.fit(train_it, validation_data=val_it, epochs=10)
