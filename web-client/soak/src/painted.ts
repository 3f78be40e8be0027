import type { ClientPage } from './client-page.ts';

/** An action in the page, whose time until it is visible is measured. */
export type Act =
  | { readonly type: 'press'; readonly label: string }
  | { readonly type: 'search'; readonly text: string };

/** @returns milliseconds from the act to the end of the frame that shows it, as the page's own clock says */
export async function painted(client: ClientPage, act: Act): Promise<number> {
  return await client.page.evaluate(actAndPaint, act);
}

/** Runs in the page, and must not use variables from outside. */
function actAndPaint(act: Act): Promise<number> {
  const beganAtMs = performance.now();
  if (act.type === 'press') {
    const button = document.querySelector<HTMLElement>(`[aria-label="${act.label}"]`);
    if (button === null) throw new Error(`there is no button “${act.label}”`);
    button.click();
  } else {
    const input = document.querySelector<HTMLInputElement>('input[type=search]');
    if (input === null) throw new Error('there is no search');
    // Like typing: React learns of the change by the event, and only if the value differs.
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(input, act.text);
    input.dispatchEvent(new Event('input', { bubbles: true }));
  }
  return new Promise((resolve) => {
    requestAnimationFrame(() => {
      // A task runs after the frame was drawn.
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => resolve(performance.now() - beganAtMs);
      port2.postMessage(undefined);
    });
  });
}
