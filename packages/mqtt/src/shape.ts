import { levelCount, startsWithWildcard } from './topic.ts';

/**
 * The shape of a Topic Filter: one character for each level, `.` for a literal, `+` and `#` for themselves.
 * `a/+/b/#` has the shape `.+.#`.
 *
 * Of all filters of one shape at most one matches a given topic, and it follows from the topic. Matching a
 * topic is therefore one exact lookup for each shape in use (tuple-space search), however many filters there are.
 */
export function shapeOf(filter: string): string {
  let shape = '';
  let start = 0;
  for (;;) {
    const slash = filter.indexOf('/', start);
    const end = slash === -1 ? filter.length : slash;
    const isWildcard = end - start === 1 && (filter[start] === '+' || filter[start] === '#');
    shape += isWildcard ? filter[start] : '.';
    if (slash === -1) return shape;
    start = slash + 1;
  }
}

/** The only filter of this shape that matches the topic, or `undefined` if none can. */
export function filterForShape(shape: string, topicName: string): string | undefined {
  if (topicName.startsWith('$') && startsWithWildcard(shape)) return undefined; // [MQTT-4.7.2-1]
  const hasHash = shape.endsWith('#');
  const fixedLevels = hasHash ? shape.length - 1 : shape.length;
  const topicLevels = levelCount(topicName);
  if (hasHash ? topicLevels < fixedLevels : topicLevels !== fixedLevels) return undefined;
  if (!hasHash && !shape.includes('+')) return topicName;
  return fill(shape, fixedLevels, topicName);
}

function fill(shape: string, fixedLevels: number, topicName: string): string {
  let filter = '';
  let start = 0;
  for (let level = 0; level < fixedLevels; level += 1) {
    const slash = topicName.indexOf('/', start);
    const end = slash === -1 ? topicName.length : slash;
    if (level > 0) filter += '/';
    filter += shape[level] === '+' ? '+' : topicName.slice(start, end);
    start = end + 1;
  }
  if (fixedLevels === shape.length) return filter;
  return fixedLevels === 0 ? '#' : `${filter}/#`;
}
