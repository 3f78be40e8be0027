import { PING_APART_MS_MIN } from '../limits.ts';
import type { ObjectSocket } from '../platform.ts';
import { noteOn, type SocketNote, touchedLink, unpackLink } from '../storage/saved-link.ts';

const PINGREQ = [0xc0, 0];
const PINGRESP = Uint8Array.of(0xd0, 0);

/**
 * Answers the PINGREQ of a client whose object sleeps from what its socket carries: most events of an idle hub are these,
 * and none of its rows is read. Returns false where more is to be done than to note when the packet came.
 *
 * @param alarmAtMs when the alarm of the object is set to go off: one that is late or missing is the hub's to find
 */
export function answerSleepingPing(
  socket: ObjectSocket,
  data: ArrayBuffer | string,
  alarmAtMs: number | null,
  nowMs: number,
): boolean {
  if (!isPing(data) || alarmAtMs === null || alarmAtMs <= nowMs) return false;
  const note = socket.deserializeAttachment() as SocketNote | null;
  if (note?.link === undefined || note.isClosed) return false;
  const { state, unfinished, readers, lastPacketAtMs } = unpackLink(note.link);
  if (state.phase !== 'connected' || unfinished.length > 0 || readers.length > 0) return false;
  if (state.isDraining || state.replays.length > 0 || state.reauthentication !== undefined) return false;
  const { expiresAtMs = Number.POSITIVE_INFINITY } = state.connection.identity;
  if (expiresAtMs <= nowMs) return false;
  // The rates of its identity are charged by the hub [SEC-QUOTA-1].
  if (nowMs - lastPacketAtMs < PING_APART_MS_MIN) return false;
  noteOn(socket, { id: note.id, link: touchedLink(note.link, nowMs) });
  socket.send(PINGRESP);
  return true;
}

function isPing(data: ArrayBuffer | string): boolean {
  if (typeof data === 'string' || data.byteLength !== PINGREQ.length) return false;
  const [type, length] = new Uint8Array(data);
  return type === PINGREQ[0] && length === PINGREQ[1];
}
