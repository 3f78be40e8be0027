/** What the program does at either service. */
export interface Service {
  readonly name: string;
  publish(number: number): Promise<unknown>;
  subscribe(receive: (number: number) => void): Promise<Subscriber>;
  end(): Promise<unknown>;
}

export interface Subscriber {
  /** Ends the connection without a word, as a tunnel does. */
  cut(): Promise<unknown>;
}
