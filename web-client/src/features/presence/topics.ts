import { newSubscription } from '../../engine/new-profile.ts';
import type { Subscription } from '../../engine/types.ts';

/** The topics of presence (docs/presence.md). */

const MEMBER = /^\$presence\/([^/+#]+)\/([^/+#]+)$/;
const MEMBERS = /^\$presence\/([^/+#]+)\/\+$/;
const OCCUPANCY = /^\$occupancy\/([^/+#]+)$/;

export function memberOf(topic: string): { readonly room: string; readonly member: string } | undefined {
  const [, room, member] = MEMBER.exec(topic) ?? [];
  return room === undefined || member === undefined ? undefined : { room, member };
}

/** The room whose member count a topic, or a filter, concerns. */
export function roomOfOccupancy(topic: string): string | undefined {
  return OCCUPANCY.exec(topic)?.[1];
}

/** A room and a member are one level of a topic each. */
export function isName(text: string): boolean {
  return text !== '' && !/[/+#\0]/.test(text);
}

export function watchedRooms(subscriptions: readonly Subscription[]): readonly string[] {
  return subscriptions.flatMap(({ filter }) => MEMBERS.exec(filter)?.[1] ?? []);
}

/** Adds subscriptions that watch a room: its members, and their number. */
export function watching(subscriptions: readonly Subscription[], room: string): readonly Subscription[] {
  const others = notWatching(subscriptions, room);
  const members = newSubscription(`$presence/${room}/+`, others.length);
  return [...others, members, { ...newSubscription(`$occupancy/${room}`), color: members.color }];
}

export function notWatching(subscriptions: readonly Subscription[], room: string): readonly Subscription[] {
  return subscriptions.filter(
    ({ filter }) => MEMBERS.exec(filter)?.[1] !== room && roomOfOccupancy(filter) !== room,
  );
}
