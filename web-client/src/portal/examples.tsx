import type { PortalExample } from './document/portal-document.ts';
import { jsonOf } from './document/read-document.ts';
import { text } from './strings.ts';
import { Code } from './ui/code.tsx';

/** Payloads as they are sent, with the newest received one if the broker shows it. */
export function Examples({ examples }: { readonly examples: readonly PortalExample[] }) {
  return examples.map(({ label, payload }, index) => {
    const name = label ?? text.example(index + 1);
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: examples of one topic do not change places
      <Code key={index} name={name} head={name}>
        {jsonOf(JSON.parse(payload), 2) ?? payload}
      </Code>
    );
  });
}
