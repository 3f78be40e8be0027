import { useEffect } from 'react';
import { OVERLAYS_ID } from './theme.ts';

/**
 * Gives the focus back to the element that had it before a dialog opened. Mantine does so for dialogs that stay in the
 * page when they close; the page removes most of its dialogs.
 */
export function useDialogFocus(): void {
  useEffect(() => {
    const overlays = document.getElementById(OVERLAYS_ID);
    if (overlays === null) return;
    let outside: HTMLElement | undefined;
    let inside: HTMLElement | undefined;
    const focused = ({ target }: FocusEvent): void => {
      if (!(target instanceof HTMLElement)) return;
      if (overlays.contains(target)) inside = target;
      else [outside, inside] = [target, undefined];
    };
    // A user who has left a field by Escape does not come back to it.
    const left = ({ target, relatedTarget }: FocusEvent): void => {
      if (target === outside && relatedTarget === null) outside = undefined;
    };
    const observer = new MutationObserver(() => {
      if (inside === undefined || inside.isConnected) return;
      inside = undefined;
      if (document.activeElement === document.body) outside?.focus({ preventScroll: true });
    });
    document.addEventListener('focusin', focused);
    document.addEventListener('focusout', left);
    observer.observe(overlays, { childList: true });
    return () => {
      document.removeEventListener('focusin', focused);
      document.removeEventListener('focusout', left);
      observer.disconnect();
    };
  }, []);
}
