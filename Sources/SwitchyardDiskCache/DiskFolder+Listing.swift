import Foundation

extension DiskFolder {
    /// All entries, in no order; what goes away meanwhile is left out.
    var files: [File] {
        partitions(beginningWith: "").flatMap { files(of: $0) }
    }

    /// The names of the partitions that begin so.
    func partitions(beginningWith prefix: String) -> [String] {
        Self.names(in: path).filter { $0.hasPrefix(prefix) && DiskName.isPartition($0) }
    }

    /// The entries of one partition.
    func files(of partition: String) -> [File] {
        let folder = "\(path)/\(partition)"
        return Self.names(in: folder).filter(DiskName.isShard).flatMap { shard in
            Self.names(in: "\(folder)/\(shard)").filter(DiskName.isFile)
                .compactMap { Self.file("\(folder)/\(shard)/\($0)") }
        }
    }

    /// Removes what writers left behind that were killed; nothing takes ten minutes to write.
    func removeLeftovers() {
        for name in Self.names(in: "\(path)/.new") {
            guard let file = Self.file("\(path)/.new/\(name)"), time(nil) - file.used > 600 else { continue }
            unlink(file.path)
        }
    }

    private static func file(_ path: String) -> File? {
        var facts = stat()
        guard stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
        return File(path: path, size: Int(facts.st_size), used: facts.modified)
    }

    /// The names in a folder, without itself and the one above; none when it cannot be read.
    private static func names(in folder: String) -> [String] {
        guard let handle = opendir(folder) else { return [] }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) {
                    String(cString: $0)
                }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
