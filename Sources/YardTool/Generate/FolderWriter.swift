import Foundation
import SwitchyardGenerator

/// Writes generated files into a folder, and removes generated files of an earlier run that are no longer generated.
struct FolderWriter {
    private let folder: URL
    /// The first characters of each generated file, by which files of an earlier run are recognized.
    private static let mark = "// Generated from "

    init(_ folder: URL) {
        self.folder = folder
    }

    /// Writes the files, except files whose contents have not changed.
    func write(_ files: [GeneratedFile]) throws {
        for file in files {
            let url = folder.appendingPathComponent(file.path)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            let data = Data(file.text.utf8)
            if (try? Data(contentsOf: url)) != data { try data.write(to: url, options: .atomic) }
        }
        try removeOthers(than: Set(files.map(\.path)))
    }

    private func removeOthers(than paths: Set<String>) throws {
        for name in ["", "Managers", "Models"] {
            let place = name.isEmpty ? folder : folder.appendingPathComponent(name)
            let entries = (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? []
            for entry in entries where entry.hasSuffix(".swift") {
                guard !paths.contains(name.isEmpty ? entry : "\(name)/\(entry)") else { continue }
                let url = place.appendingPathComponent(entry)
                guard let text = try? String(contentsOf: url, encoding: .utf8), text.hasPrefix(Self.mark) else {
                    continue
                }
                try FileManager.default.removeItem(at: url)
            }
        }
    }
}
