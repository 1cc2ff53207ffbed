#!/usr/bin/env bash
# Builds what is installed without a compiler, in target/package:
#
#   fuser_VERSION-1_ARCH.deb           the tools, the language server and the parts of LLVM that they load
#   fuser-VERSION-TARGET.tar.gz        the same; runs where it is unpacked, and is what `cargo binstall` reads
#   fuser-VERSION-TARGET-debug.tar.gz  debug information of the programs, which debuggers find beside them
#
#   scripts/package.sh                 all three; the package for Debian takes cargo-deb (cargo install cargo-deb --locked)
#   scripts/package.sh --stage         the folder target/package/stage alone, which has the form of /usr
#
# A build has the glibc of its machine: what is built on Debian 12 runs on Debian 12 and newer.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"

target=${CARGO_TARGET_DIR:-target}
package=target/package
stage=$package/stage
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -1)
triple=$(rustc -vV | sed -n 's/^host: //p')
name=fuser-$version-$triple
programs=(fuser-opt fuser-run fuser-translate fuser-reduce fuser-lsp)

die() { printf 'package: error: %s\n' "$*" >&2; exit 1; }

# Lines of sources in backtraces: debug information is built here, and kept apart.
build() {
  CARGO_PROFILE_RELEASE_DEBUG=line-tables-only CARGO_PROFILE_RELEASE_STRIP=none \
    cargo build --release --locked -p fuser -p fuser-lsp --bins --message-format=json-render-diagnostics > "$package/messages"
}

llvm() { # the library that this build linked from LLVM's archives
  local folder
  folder=$(grep '"reason":"build-script-executed"' "$package/messages" | grep -o '"out_dir":"[^"]*/fuser-codegen-[^"]*"' | cut -d'"' -f4 | tail -1)
  [ -e "$folder/libfuser-llvm.so" ] || die "the build linked no libfuser-llvm.so: llvm-22-dev and a C++ compiler are needed (scripts/setup.sh)"
  echo "$folder/libfuser-llvm.so"
}

strip_into() { # strip_into PROGRAM: stripped in the stage, its debug information beside the stage
  objcopy --only-keep-debug "$target/release/$1" "$package/debug/$1.debug"
  (cd "$package/debug" && objcopy --strip-all --add-gnu-debuglink="$1.debug" "$OLDPWD/$target/release/$1" "$OLDPWD/$stage/bin/$1")
}

extras() { # manual pages and completions, where the tools print them
  local share=$stage/share program=$1
  "$stage/bin/$program" man > "$package/page" 2> /dev/null && install -Dm644 "$package/page" "$share/man/man1/$program.1"
  "$stage/bin/$program" completions bash > "$package/page" 2> /dev/null && install -Dm644 "$package/page" "$share/bash-completion/completions/$program"
  "$stage/bin/$program" completions zsh > "$package/page" 2> /dev/null && install -Dm644 "$package/page" "$share/zsh/vendor-completions/_$program"
  "$stage/bin/$program" completions fish > "$package/page" 2> /dev/null && install -Dm644 "$package/page" "$share/fish/vendor_completions.d/$program.fish"
  return 0
}

rm -rf "$package" && mkdir -p "$package/debug" "$stage/bin" "$stage/lib/fuser"
build
for program in "${programs[@]}"; do
  strip_into "$program"
done
library=$(llvm)
install -m 644 "$library" "$stage/lib/fuser/libfuser-llvm.so"
for program in "${programs[@]}"; do
  extras "$program"
done
install -Dm644 -t "$stage/share/doc/fuser" README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE
install -Dm644 -t "$stage/share/doc/fuser/examples" examples/*.fir
[ "${1:-}" = --stage ] && exit

tar -C "$package" --owner=0 --group=0 --transform "s,^stage,$name," -czf "$package/$name.tar.gz" stage
tar -C "$package" --owner=0 --group=0 --transform "s,^debug,$name-debug," -czf "$package/$name-debug.tar.gz" debug
if cargo deb --version > /dev/null 2>&1; then
  cargo deb --no-build --no-strip --output "$package"
else
  echo 'skipped: no cargo-deb; no package for Debian (cargo install cargo-deb --locked)'
fi
(cd "$package" && sha256sum -- *.tar.gz *.deb 2> /dev/null > SHA256SUMS; ls -l -- *.tar.gz *.deb 2> /dev/null) || true
