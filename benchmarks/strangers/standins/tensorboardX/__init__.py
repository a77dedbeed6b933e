from torch.utils.tensorboard import SummaryWriter

__all__ = ["SummaryWriter"]
