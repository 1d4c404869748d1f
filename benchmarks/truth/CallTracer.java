// An agent that notes which methods of a library's own classes run, from which line of which method, and which call instructions ran.
// java -javaagent:agent.jar=OUT -Dtrace.main=FOLDER …: FOLDER is a part of the path of the library's classes (its tests are not judged).
// Lines of OUT: C caller class, method, descriptor, line, callee; S call site. Needs ASM 9. docs/results/languages.md says how it was used.
package trc;
import java.lang.instrument.*; import java.security.ProtectionDomain; import java.util.*; import java.util.concurrent.*; import java.io.*;
import org.objectweb.asm.*;
public class CallTracer {
  public static final Set<String> CALLS = ConcurrentHashMap.newKeySet();
  public static final Set<String> SITES = ConcurrentHashMap.newKeySet();
  static final StackWalker W = StackWalker.getInstance();
  static boolean ours(String c) { return c.startsWith("com.google.gson") && !c.contains("$$Lambda"); }
  static final Set<String> MAIN = new HashSet<>();
  public static void enter(String callee) {
    W.walk(s -> { Iterator<StackWalker.StackFrame> it = s.iterator(); it.next(); if (!it.hasNext()) return null; it.next(); if (!it.hasNext()) return null;
      StackWalker.StackFrame f = it.next(); String c = f.getClassName();
      if (ours(c)) CALLS.add(c + "\t" + f.getMethodName() + "\t" + f.getDescriptor() + "\t" + f.getLineNumber() + "\t" + callee); return null; });
  }
  public static void site(String s) { SITES.add(s); }
  public static void premain(String a, Instrumentation ins) {
    Runtime.getRuntime().addShutdownHook(new Thread(() -> { try (PrintWriter p = new PrintWriter(a)) { for (String s : CALLS) p.println("C\t" + s); for (String s : SITES) p.println("S\t" + s); } catch (IOException e) { e.printStackTrace(); } }));
    ins.addTransformer(new ClassFileTransformer() {
      public byte[] transform(ClassLoader l, String n, Class<?> k, ProtectionDomain d, byte[] b) {
        if (n == null || !n.startsWith("com/google/gson")) return null;
        String src = d == null || d.getCodeSource() == null ? "" : d.getCodeSource().getLocation().toString();
        boolean main = src.contains(System.getProperty("trace.main", "/main"));
        if (!main) return null;
        try {
          ClassReader r = new ClassReader(b); ClassWriter w = new ClassWriter(r, ClassWriter.COMPUTE_MAXS);
          r.accept(new ClassVisitor(Opcodes.ASM9, w) {
            public MethodVisitor visitMethod(int acc, String name, String desc, String sig, String[] ex) {
              MethodVisitor mv = super.visitMethod(acc, name, desc, sig, ex); if (name.equals("<clinit>")) return sites(mv, n, name, desc);
              MethodVisitor inner = sites(mv, n, name, desc);
              return new MethodVisitor(Opcodes.ASM9, inner) { int first = -1;
                public void visitCode() { super.visitCode(); mv.visitLdcInsn(n + "\t" + name + "\t" + desc + "\t" + ((acc & Opcodes.ACC_SYNTHETIC) != 0 ? "syn" : "")); mv.visitMethodInsn(Opcodes.INVOKESTATIC, "trc/CallTracer", "enter", "(Ljava/lang/String;)V", false); } };
            }
          }, 0); return w.toByteArray();
        } catch (Throwable t) { System.err.println(n + " " + t); return null; }
      } });
  }
  static MethodVisitor sites(MethodVisitor mv, String cls, String m, String md) {
    return new MethodVisitor(Opcodes.ASM9, mv) { int line = 0;
      public void visitLineNumber(int l, Label x) { line = l; super.visitLineNumber(l, x); }
      public void visitMethodInsn(int op, String o, String n, String d, boolean itf) {
        if (!o.equals("trc/CallTracer")) { super.visitLdcInsn(cls + "\t" + m + "\t" + md + "\t" + line + "\t" + o + "\t" + n); super.visitMethodInsn(Opcodes.INVOKESTATIC, "trc/CallTracer", "site", "(Ljava/lang/String;)V", false); }
        super.visitMethodInsn(op, o, n, d, itf); } }; }
}
