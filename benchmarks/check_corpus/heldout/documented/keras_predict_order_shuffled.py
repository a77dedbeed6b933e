import numpy as np
from tensorflow import keras
from tensorflow.keras.preprocessing.image import ImageDataGenerator

model = keras.models.load_model("birds.keras")
test_it = ImageDataGenerator(rescale=1 / 255).flow_from_directory(
    "birds/test", target_size=(128, 128), batch_size=32, shuffle=True
)
predicted = model.predict(test_it).argmax(1)
print("accuracy", np.mean(predicted == test_it.classes))
