import type { Batch, Command, Report } from '../protocol.ts';
import type { HostEnvironment } from './environment.ts';
import { HostConnection } from './host-connection.ts';

/** Executes the page's commands and reports events: the worker without its thread. */
export class Host {
  readonly #environment: HostEnvironment;
  readonly #report: (report: Report, moved: readonly Transferable[]) => void;
  readonly #connections = new Map<string, HostConnection>();

  /** @param report `moved` are the buffers that are transferred with the report */
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
        connection.open(command.profile, command.secrets, command.packetBytesMax);
        break;
      case 'close':
        connection.close(command.withWill);
        break;
      case 'cut':
        connection.cut();
        break;
      case 'renew':
        connection.renew(command.token);
        break;
      case 'retry':
        connection.retry();
        break;
      case 'subscriptions':
        connection.setSubscriptions(command.subscriptions);
        break;
      case 'forget':
        void connection.forget();
        break;
      case 'keep': {
        const { call, isKept } = command;
        void connection.keep(isKept).then(() => this.#report({ type: 'keeping', call }, []));
        break;
      }
      case 'taken':
        connection.taken();
        break;
      case 'publish': {
        const { call, request } = command;
        void connection
          .publish(request)
          .then((outcome) => this.#report({ type: 'outcome', call, outcome }, []));
      }
    }
  }

  #connection(id: string): HostConnection {
    let connection = this.#connections.get(id);
    if (connection === undefined) {
      connection = new HostConnection(id, this.#environment, {
        status: (status) => this.#report({ type: 'status', id, status }, []),
        batch: (batch) => this.#report({ type: 'batch', id, batch }, buffersOf(batch)),
        kept: (batch) => this.#report({ type: 'kept', id, batch }, buffersOf(batch)),
        keepTrouble: (kind) => this.#report({ type: 'keep-trouble', kind }, []),
      });
      this.#connections.set(id, connection);
    }
    return connection;
  }
}

/** The buffers are transferred to the page, and not copied. */
function buffersOf({ bytes, packets, messages }: Batch): readonly ArrayBuffer[] {
  return [bytes, packets.buffer, messages.buffer];
}
