"""From a bug report to the files of a repository that it is about; called, it is `netmend.api.locate`."""

from netmend.callable_package import make_callable

make_callable(__name__)
