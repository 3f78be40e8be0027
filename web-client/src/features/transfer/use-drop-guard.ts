import { useEffect } from 'react';

/**
 * Ignores a file that is dropped outside of its target: the browser would open it in place of this page, and all
 * connections and messages would be lost.
 */
export function useDropGuard(): void {
  useEffect(() => {
    const guard = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes('Files') === true) event.preventDefault();
    };
    window.addEventListener('dragover', guard);
    window.addEventListener('drop', guard);
    return () => {
      window.removeEventListener('dragover', guard);
      window.removeEventListener('drop', guard);
    };
  }, []);
}
