/** What an object of Cloudflare has done, by what the platform bills. */
export interface ObjectCounts {
  /** Requests for a WebSocket. */
  readonly requests: number;
  /** Messages from sockets. Twenty are billed as a request. */
  readonly messages: number;
  /** Closes of sockets by clients: no price page names them. */
  readonly closes: number;
  readonly alarms: number;
  /** Not billed. */
  readonly framesOut: number;
  readonly rowsRead: number;
  /** Rows of SQLite that were written or deleted. */
  readonly rowsWritten: number;
  /** Each is billed as a row written. */
  readonly alarmsSet: number;
  /** Transactions: the platform confirms each before a frame leaves. */
  readonly commits: number;
}

export const NOTHING_COUNTED: ObjectCounts = {
  ...{ requests: 0, messages: 0, closes: 0, alarms: 0, framesOut: 0 },
  ...{ rowsRead: 0, rowsWritten: 0, alarmsSet: 0, commits: 0 },
};

/** With the time that timers have kept the object awake after its events, in ms. */
export type Counted = ObjectCounts & { readonly awakeMs: number };
