import type { Command, Report } from '../protocol.ts';
import type { ConnectionStatus } from '../types.ts';
import { Line } from './line.ts';
import { PageConnection } from './page-connection.ts';

/** The connections of the page, one for each profile. Each lives as long as its profile does. */
export class Connections {
  readonly #byId = new Map<string, PageConnection>();
  readonly #line: Line;
  readonly #onStatus: (id: string, status: ConnectionStatus) => void;

  /** @param post hands a command to the host, whose reports come to `report` */
  constructor(post: (command: Command) => void, onStatus: (id: string, status: ConnectionStatus) => void) {
    this.#line = new Line(post);
    this.#onStatus = onStatus;
  }

  get(id: string): PageConnection {
    let connection = this.#byId.get(id);
    if (connection === undefined) {
      connection = new PageConnection(id, this.#line);
      this.#byId.set(id, connection);
    }
    return connection;
  }

  /** Closes it and forgets its logs. */
  remove(id: string): void {
    this.get(id).close();
    this.#byId.delete(id);
  }

  report(report: Report): void {
    if (report.type === 'status') this.#onStatus(report.id, report.status);
    else if (report.type === 'batch') this.get(report.id).take(report.batch);
    else this.#line.answered(report);
  }
}
