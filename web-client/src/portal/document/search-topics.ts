import type { PortalTopic } from './portal-document.ts';

/** `all`; `none`: topics without a stream; else the name of a stream behind `=`. */
export type StreamChoice = 'all' | 'none' | `=${string}`;

/** The topics that contain every word of the search, in any of their texts. */
export function searchTopics(
  topics: readonly PortalTopic[],
  search: string,
  choice: StreamChoice,
): readonly PortalTopic[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return topics.filter((topic) => isOf(topic, choice) && words.every((word) => textOf(topic).includes(word)));
}

export function streamNames(topics: readonly PortalTopic[]): readonly string[] {
  return [...new Set(topics.flatMap(({ stream }) => stream?.name ?? []))].sort();
}

function isOf({ stream }: PortalTopic, choice: StreamChoice): boolean {
  if (choice === 'all') return true;
  return choice === 'none' ? stream === undefined : stream?.name === choice.slice(1);
}

function textOf({
  address,
  title,
  description = '',
  publish = '',
  subscribe = '',
  stream,
}: PortalTopic): string {
  return [address, title, description, publish, subscribe, stream?.name ?? ''].join('\n').toLowerCase();
}
