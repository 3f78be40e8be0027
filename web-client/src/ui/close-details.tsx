import { IconX } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';
import { IconButton } from './icon-button.tsx';

/** Closes the details beside a list, as Escape does in them. The list gets the focus that was in them. */
export function CloseDetails({ close }: { readonly close: () => void }) {
  const button = useRef<HTMLButtonElement>(null);
  const leave = (): void => {
    const aside = document.activeElement?.closest('aside');
    aside?.parentElement?.querySelector<HTMLElement>('[role="grid"], [role="tree"]')?.focus();
    close();
  };
  useEffect(() => {
    const pressed = ({ key, target }: KeyboardEvent): void => {
      if (key !== 'Escape' || !(target instanceof Element)) return;
      // The first Escape closes the list of an open field.
      if (target.matches('[role="combobox"][aria-controls]')) return;
      if (button.current?.closest('aside')?.contains(target)) leave();
    };
    // While it goes down: afterwards such a list is closed already.
    document.addEventListener('keydown', pressed, true);
    return () => document.removeEventListener('keydown', pressed, true);
  });
  return (
    <IconButton ref={button} label="Close the details" onClick={leave}>
      <IconX size={16} stroke={1.5} />
    </IconButton>
  );
}
