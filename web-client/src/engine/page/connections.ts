import type { Command, Report } from '../protocol.ts';
import type { ConnectionStatus, KeepTrouble } from '../types.ts';
import { Line } from './line.ts';
import { PageConnection } from './page-connection.ts';

/** The connections of the page, one for each profile. Each exists as long as its profile does. */
export class Connections {
  readonly #byId = new Map<string, PageConnection>();
  readonly #line: Line;
  readonly #onStatus: (id: string, status: ConnectionStatus) => void;
  readonly #onKeepTrouble: (kind: KeepTrouble) => void;

  /** @param post hands a command to the host, whose reports come to `report` */
  constructor(
    post: (command: Command) => void,
    onStatus: (id: string, status: ConnectionStatus) => void,
    onKeepTrouble: (kind: KeepTrouble) => void = () => {},
  ) {
    this.#line = new Line(post);
    this.#onStatus = onStatus;
    this.#onKeepTrouble = onKeepTrouble;
  }

  get(id: string): PageConnection {
    let connection = this.#byId.get(id);
    if (connection === undefined) {
      connection = new PageConnection(id, this.#line);
      this.#byId.set(id, connection);
    }
    return connection;
  }

  /** Closes it and deletes its logs, including the messages that would stay across a reload. */
  remove(id: string): void {
    this.get(id).close();
    void this.get(id).keep(false);
    this.#byId.delete(id);
  }

  report(report: Report): void {
    if (report.type === 'status') this.#onStatus(report.id, report.status);
    else if (report.type === 'batch') this.get(report.id).take(report.batch);
    else if (report.type === 'kept') this.get(report.id).takeKept(report.batch);
    else if (report.type === 'keep-trouble') this.#onKeepTrouble(report.kind);
    else this.#line.answered(report);
  }
}
