import type { Connection } from './gateway/connection.ts';
import { closeConnection, cutConnection } from './gateway/connection-life.ts';
import type { Gateway } from './gateway/gateway.ts';

/** The operations that a test can perform on a running emulator. */
export interface Controls {
  /** Ids of the connections that are open. */
  connectionIds(): readonly string[];
  /**
   * Closes a connection from the gateway's side, for example with 1012 as at a restart. False if there is no such
   * connection.
   */
  closeConnection(connectionId: string, code: number, reason?: string): boolean;
  /** Breaks a TCP connection; the gateway notices at once (1006). False if there is no such connection. */
  cutConnection(connectionId: string): boolean;
  /**
   * Loses a client without the gateway's notice: posts succeed until the buffer is full, and the connection ends only
   * at the idle timeout. The client sees a broken connection, or, if so requested, nothing at all, as when a cable is
   * pulled. False if there is no such connection.
   */
  loseConnection(connectionId: string, clientNotices?: boolean): boolean;
  /** Kills an execution environment: its invocation ends at the timeout. False if there is none. */
  killEnvironment(environmentId: string): boolean;
  /** The next invocations start cold. */
  retireIdleEnvironments(): void;
  /**
   * Invokes one of the option `functions` with an event, which crosses as JSON, and waits for its result. Rejects with
   * the function's error, when it timed out, and when there is no such function.
   */
  invoke(functionName: string, event: unknown): Promise<unknown>;
  /**
   * Resolves when no handshake, message, call or `$disconnect` is under way, delayed ones included. Bytes that are
   * still on their way from a client are not seen.
   */
  quiet(): Promise<void>;
}

export function controlsOf(gateway: Gateway): Controls {
  const withConnection = (id: string, act: (connection: Connection) => void): boolean => {
    const connection = gateway.connections.get(id);
    if (connection?.state !== 'open') return false;
    act(connection);
    return true;
  };
  return {
    connectionIds: () => [...gateway.connections.values()].filter((c) => c.state === 'open').map((c) => c.id),
    closeConnection: (id, code, reason = '') =>
      withConnection(id, (c) => closeConnection(gateway, c, code, reason)),
    cutConnection: (id) => withConnection(id, cutConnection),
    loseConnection: (id, clientNotices = true) => withConnection(id, (c) => c.lose(clientNotices)),
    killEnvironment: (id) => gateway.functions.some((lambda) => lambda.kill(id)),
    retireIdleEnvironments() {
      for (const lambda of gateway.functions) lambda.retireIdle();
    },
    invoke: (functionName, event) => invoke(gateway, functionName, event),
    quiet: () => gateway.activity.quiet(),
  };
}

async function invoke(gateway: Gateway, functionName: string, event: unknown): Promise<unknown> {
  const lambda = gateway.invoked.get(functionName);
  if (lambda === undefined)
    throw new Error(`There is no function ${functionName} among the option functions`);
  const end = gateway.activity.begin();
  const outcome = await lambda.invoke(functionName, (handler) => handler, event);
  end();
  if (outcome.kind === 'failed') throw outcome.error;
  return outcome.value;
}

/** Nothing of it runs on. */
export function stopGateway(gateway: Gateway): void {
  gateway.stopped = true;
  for (const connection of gateway.connections.values()) connection.cancelTimers();
  gateway.attached?.stop();
  for (const lambda of gateway.functions) lambda.stop();
}
