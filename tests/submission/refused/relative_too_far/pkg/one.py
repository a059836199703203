from ..helper import first
