/** Whether a topic filter matches a topic name by MQTT's rules. */
export function topicMatches(filter: string, topic: string): boolean {
  const filterLevels = filter.split('/');
  const levels = topic.split('/');
  // [MQTT-4.7.2-1]
  if (topic.startsWith('$') && /^[+#]/.test(filter)) return false;
  for (const [index, wanted] of filterLevels.entries()) {
    if (wanted === '#') return true;
    if (index >= levels.length || (wanted !== '+' && wanted !== levels[index])) return false;
  }
  return filterLevels.length === levels.length;
}
