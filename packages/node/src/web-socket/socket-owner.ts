import type { Socket } from 'node:net';

/** Gets the events of the sockets that it owns. */
export interface SocketOwner {
  received(chunk: Buffer, socket: Socket): void;
  /** The client sends no more. */
  ended(socket: Socket): void;
  /** The connection is gone. */
  closed(socket: Socket): void;
}

const OWNER = Symbol('owner');

type OwnedSocket = Socket & { [OWNER]?: SocketOwner | undefined };

/** An exception ends this connection alone; the handler of the process reports it (docs/operate.md). [SEC-FAULT-1] */
function onData(this: OwnedSocket, chunk: Buffer): void {
  try {
    this[OWNER]?.received(chunk, this);
  } catch (error) {
    this.destroy();
    throw error;
  }
}

function onEnd(this: OwnedSocket): void {
  try {
    this[OWNER]?.ended(this);
  } catch (error) {
    this.destroy();
    throw error;
  }
}

/** 'close' follows. */
function onError(): void {}

function onClose(this: OwnedSocket): void {
  this[OWNER]?.closed(this);
}

/**
 * Gives the owner the events of the socket from now on. The listeners are the same for all sockets, so they take no
 * memory.
 */
export function own(socket: Socket, owner: SocketOwner): void {
  const owned: OwnedSocket = socket;
  if (owned[OWNER] === undefined)
    socket.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
  owned[OWNER] = owner;
}

/** Removes the listeners: the socket is as it was before it had an owner. */
export function letGo(socket: Socket): void {
  const owned: OwnedSocket = socket;
  owned[OWNER] = undefined;
  socket.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
}
