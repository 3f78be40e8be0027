import type { Command, Report } from '../protocol.ts';
import type { HostEnvironment } from './environment.ts';
import { HostConnection } from './host-connection.ts';

/** Takes what the page commands and reports what happens: the worker without its thread. */
export class Host {
  readonly #environment: HostEnvironment;
  readonly #report: (report: Report, moved: readonly Transferable[]) => void;
  readonly #connections = new Map<string, HostConnection>();
  readonly #bursts = new Map<number, () => void>();

  /** @param report `moved` are the buffers that the report takes with it */
  constructor(
    environment: HostEnvironment,
    report: (report: Report, moved: readonly Transferable[]) => void,
  ) {
    this.#environment = environment;
    this.#report = report;
  }

  handle(command: Command): void {
    const connection = this.#connection(command.id);
    switch (command.type) {
      case 'open':
        connection.open(command.profile, command.secrets);
        break;
      case 'close':
        connection.close(command.withWill);
        break;
      case 'cut':
        connection.cut();
        break;
      case 'retry':
        connection.retry();
        break;
      case 'subscriptions':
        connection.setSubscriptions(command.subscriptions);
        break;
      case 'taken':
        connection.taken();
        break;
      case 'publish': {
        const { call, request } = command;
        void connection
          .publish(request)
          .then((outcome) => this.#report({ type: 'outcome', call, outcome }, []));
        break;
      }
      case 'burst': {
        const { call, request } = command;
        const stop = connection.burst(request, (progress) => {
          if (progress.done) this.#bursts.delete(call);
          this.#report({ type: 'progress', call, progress }, []);
        });
        this.#bursts.set(call, stop);
        break;
      }
      case 'stop-burst':
        this.#bursts.get(command.call)?.();
    }
  }

  #connection(id: string): HostConnection {
    let connection = this.#connections.get(id);
    if (connection === undefined) {
      connection = new HostConnection(this.#environment, {
        status: (status) => this.#report({ type: 'status', id, status }, []),
        batch: (batch) => {
          const moved = [batch.bytes, batch.packets.buffer, batch.messages.buffer];
          this.#report({ type: 'batch', id, batch }, moved);
        },
      });
      this.#connections.set(id, connection);
    }
    return connection;
  }
}
