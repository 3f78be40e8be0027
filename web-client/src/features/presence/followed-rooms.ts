import { connections } from '../../state/connections.ts';
import { Rooms } from './rooms.ts';

const followed = new Map<string, Rooms>();

/** The rooms of a connection, from the first time that they are asked for. */
export function roomsOf(connectionId: string): Rooms {
  const known = followed.get(connectionId);
  if (known !== undefined) return known;
  const rooms = new Rooms();
  const { messages: log } = connections.get(connectionId);
  rooms.lookBack(log);
  log.onAppend((messages, marks) => rooms.take(messages, marks));
  followed.set(connectionId, rooms);
  return rooms;
}
