# Simplified Chinese. The id of a message is its English text: letters and digits, in lower case, joined by "-".

no-alerts = 没有告警
