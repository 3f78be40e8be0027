// Vite serves no script from outside of the folder of its HTML, and takes modules from everywhere.
import '../src/portal/main.tsx';
