/** The parser has no types of its own. */
declare module 'parse-prometheus-text-format' {
  export interface MetricFamily {
    readonly name: string;
    readonly help: string;
    readonly type: string;
    readonly metrics: readonly {
      readonly value: string;
      readonly labels?: Readonly<Record<string, string>>;
    }[];
  }
  function parse(text: string): readonly MetricFamily[];

  // biome-ignore lint/style/noDefaultExport: the package has no other export.
  export { parse as default };
}
