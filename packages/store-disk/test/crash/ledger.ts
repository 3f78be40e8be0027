interface Publisher {
  readonly name: string;
  readonly qos: 1 | 2;
}

interface Account {
  published: number;
  /** Numbers are acknowledged in their order: all up to this one. */
  acknowledged: number;
  retained: number;
}

/** Published, acknowledged and received messages. Each publisher counts its messages from 1. */
export class Ledger {
  readonly #publishers: readonly Publisher[];
  readonly #accounts: ReadonlyMap<string, Account>;
  /** By subscriber and publisher: everything up to this number has come. */
  readonly #arrived = new Map<string, number>();
  /** QoS 1 messages that came again. */
  repeated = 0;

  constructor(publishers: readonly Publisher[]) {
    this.#publishers = publishers;
    this.#accounts = new Map(
      publishers.map(({ name }) => [name, { published: 0, acknowledged: 0, retained: 0 }]),
    );
  }

  publish(name: string): number {
    const account = this.#account(name);
    account.published += 1;
    return account.published;
  }

  acknowledged(name: string, number: number): void {
    const account = this.#account(name);
    account.acknowledged = Math.max(account.acknowledged, number);
  }

  retained(name: string, number: number): void {
    const account = this.#account(name);
    account.retained = Math.max(account.retained, number);
  }

  /** Takes note, or says what is wrong: a gap, a repetition at QoS 2. */
  received(subscriber: string, name: string, number: number): string | undefined {
    const key = `${subscriber}/${name}`;
    const arrived = this.#arrived.get(key) ?? 0;
    if (number === arrived + 1) {
      this.#arrived.set(key, number);
      return undefined;
    }
    const isRepeated = number <= arrived;
    const qos = this.#publishers.find((publisher) => publisher.name === name)?.qos;
    if (isRepeated && qos === 1) {
      this.repeated += 1;
      return undefined;
    }
    return `${subscriber} has ${arrived} of ${name} and received ${number}`;
  }

  /** Up to where each publisher has the broker's promise at this moment. */
  promises(): ReadonlyMap<string, Readonly<Account>> {
    return new Map([...this.#accounts].map(([name, account]) => [name, { ...account }]));
  }

  /** Whether a subscriber has all that was promised then. */
  has(subscriber: string, promised: ReadonlyMap<string, Readonly<Account>>): boolean {
    return [...promised].every(
      ([name, { acknowledged }]) => (this.#arrived.get(`${subscriber}/${name}`) ?? 0) >= acknowledged,
    );
  }

  get acknowledgedInAll(): number {
    return [...this.#accounts.values()].reduce((sum, { acknowledged }) => sum + acknowledged, 0);
  }

  #account(name: string): Account {
    const account = this.#accounts.get(name);
    if (account === undefined) throw new Error(`there is no publisher ${name}`);
    return account;
  }
}
